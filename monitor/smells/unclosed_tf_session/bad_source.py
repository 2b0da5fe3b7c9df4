# %% left open
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
slot = tf.compat.v1.placeholder(tf.float32, [3])
twice = slot * 2
sess = tf.compat.v1.InteractiveSession()  # lint: XL506
codes = [sess.run(twice, {slot: [n, n, n]}) for n in range(3)]

# %% as_default does not close: from another module, in a function
import tensorflow.compat.v1 as tf1

def ask(value):
    session = tf1.Session()  # lint: XL506
    with session.as_default():
        answer = twice.eval({slot: value})
    return answer

answer = ask([1, 2, 3])

# %% one for each iteration, in a method
from tensorflow.compat.v1 import Session

class Asker:
    def ask_all(self, values):
        answers = []
        for value in values:
            opened = Session()  # lint: XL506
            answers.append(opened.run(twice, {slot: value}))
        return answers

answers = Asker().ask_all([[1, 2, 3], [4, 5, 6]])
