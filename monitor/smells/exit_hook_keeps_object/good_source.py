# %% a free function and what it needs
import atexit
import weakref

class Rig:
    def __init__(self, path):
        self.path = path
        self.end = weakref.finalize(self, flush_file, self.path)

# %% a pool that is ended once
pool = make_pool()
atexit.register(pool.shutdown)

# %% a value of the object
class Folder:
    def __init__(self, path):
        self.path = path
        atexit.register(remove_folder, self.path)

# %% a static method has no object
class Server:
    def __init__(self, thread):
        self.end = weakref.finalize(self, self.stop, thread)

    @staticmethod
    def stop(thread):
        thread.join()
