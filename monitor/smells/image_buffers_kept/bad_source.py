# %% readers that nothing closes
import imageio

lengths = []
for film in films:
    reader = imageio.get_reader(film)  # lint: XL508
    lengths.append(reader.count_frames())

# %% the same picture, turned and mirrored, of another library
import cv2

def load(paths):
    pictures = []
    for path in paths:
        picture = cv2.imread(path)
        picture = cv2.resize(picture, (224, 224))
        pictures.append(picture)  # lint: XL508
        pictures.append(cv2.flip(picture, 1))
    return pictures
