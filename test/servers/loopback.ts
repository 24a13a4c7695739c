import { createServer, type RequestListener, type Server } from 'node:http'

export interface LoopbackServer {
  /** `http://127.0.0.1:PORT`, without a path. */
  url: string
  stop(): Promise<void>
}

/** An HTTP server on a free loopback port. */
export async function listenOnLoopback(
  answer: RequestListener,
  wanted = 0,
): Promise<LoopbackServer> {
  const server = createServer(answer)
  const port = await listen(server, wanted)
  return {
    url: `http://127.0.0.1:${String(port)}`,
    async stop() {
      server.closeAllConnections()
      await closed(server)
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await closed(server)
  return port
}

async function listen(server: Server, wanted = 0): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(wanted, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

async function closed(server: Server): Promise<void> {
  await new Promise((resolve) => {
    server.close(resolve)
  })
}
