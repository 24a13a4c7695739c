import { createConnection } from 'node:net'

/** A request of HTTP as it is written, part by part; what is left out is as a friend would write it. */
export interface RawRequest {
  line?: string
  host?: string
  authorization?: string
  type?: string
  more?: string
  body?: string
}

export function rawRequest(shape: RawRequest, usual: Required<RawRequest>): string {
  const { line, host, authorization, type, more, body } = { ...usual, ...shape }
  const length = /transfer-encoding|content-length/i.test(more)
    ? ''
    : `Content-Length: ${body.length}\n`
  return `${line}\n${host}${authorization}${type}${length}${more}Connection: close\n\n${body}`
}

/** The answer to bytes as they are, until the connection ends. */
export function sendRaw(
  text: string,
  { host = '127.0.0.1', port }: { host?: string; port: number },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host, port })
    let answer = ''
    socket.setTimeout(20_000, () => socket.destroy(new Error('it stayed open')))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', (error) => (answer === '' ? reject(error) : resolve(answer)))
    socket.write(text.replaceAll('\n', '\r\n'))
  })
}

export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])
