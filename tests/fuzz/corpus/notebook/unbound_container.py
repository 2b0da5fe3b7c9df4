import torch

class Square(torch.autograd.Function):
    @staticmethod
    def backward(ctx, gradient):
        Square.gradients.append(gradient)
        return gradient
