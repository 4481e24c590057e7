#!/usr/bin/env python3
"""relay.py LISTEN TARGET MILLISECONDS: hands bytes on, so many milliseconds later, in each direction."""

import asyncio
import sys


async def later(reader, writer, delay):
    """Bytes leave `delay` seconds after they came, in their order."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue(10_000)

    async def send():
        while True:
            due, data = await queue.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if not data:
                break
            writer.write(data)
            await writer.drain()

    sender = asyncio.create_task(send())
    try:
        while True:
            data = await reader.read(65536)
            await queue.put((loop.time() + delay, data))
            if not data:
                break
        await sender
    except (ConnectionError, asyncio.CancelledError):
        pass
    finally:
        sender.cancel()
        writer.close()


async def main():
    (host, port), (to, to_port), delay = sys.argv[1].split(":"), sys.argv[2].split(":"), float(sys.argv[3]) / 1000

    async def serve(reader, writer):
        try:
            away_reader, away_writer = await asyncio.open_connection(to, int(to_port))
        except OSError:
            writer.close()
            return
        await asyncio.gather(later(reader, away_writer, delay), later(away_reader, writer, delay))

    server = await asyncio.start_server(serve, host, int(port))
    print("listening", file=sys.stderr, flush=True)
    await server.serve_forever()


asyncio.run(main())
