# %% readers that are closed
import imageio

lengths = []
for film in films:
    reader = imageio.get_reader(film)
    lengths.append(reader.count_frames())
    reader.close()

# %% readers in a with block
for film in films:
    with imageio.get_reader(film) as reader:
        lengths.append(reader.count_frames())

# %% one picture for each file, and its shape
import cv2

pictures = []
shapes = []
for path in paths:
    picture = cv2.imread(path)
    pictures.append(cv2.resize(picture, (224, 224)))
    shapes.append(picture.shape)
    shapes.append((picture.shape[0], picture.shape[1]))
