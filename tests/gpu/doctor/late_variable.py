# A pool whose workers set CUDA_VISIBLE_DEVICES after CUDA has started in them.
import multiprocessing, os, sys, time


def work(index):
    import torch

    torch.cuda.init()
    os.environ["CUDA_VISIBLE_DEVICES"] = str(index)  # too late
    weight = torch.randn(8192, 8192, device="cuda")
    end = time.time() + float(sys.argv[1])
    while time.time() < end:
        for _ in range(10):
            weight = torch.tanh(weight @ weight)
        torch.cuda.synchronize()


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    with multiprocessing.Pool(2) as pool:
        pool.map_async(work, range(2))
        print("ready", flush=True)
        time.sleep(float(sys.argv[1]) + 20)
