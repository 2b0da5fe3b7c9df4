%%capture pictures  # lint: XL414
for star in stars:
    plot(star)
