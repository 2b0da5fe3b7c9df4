# %% models of other frameworks, which know nothing of torch's gradients
import torch
from transformers import FlaxAutoModel, TFAutoModelForQuestionAnswering

keras_reader = TFAutoModelForQuestionAnswering.from_pretrained("some/model")
for question in questions:
    start = keras_reader(question).start_logits

# %% of JAX
jax_reader = FlaxAutoModel.from_pretrained("some/model")
states = [jax_reader(**question).last_hidden_state for question in questions]

# %% without gradients
from transformers import AutoModelForQuestionAnswering

reader = AutoModelForQuestionAnswering.from_pretrained("some/model")
with torch.inference_mode():
    for question in questions:
        start = reader(**question).start_logits
