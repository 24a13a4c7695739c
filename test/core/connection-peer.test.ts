import { spawn } from 'node:child_process'
import { createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ancestryOfPeer, type ProcessTable } from '../../src/core/agent-ancestry.ts'
import { peersOf } from '../../src/core/connection-peer.ts'

describe.skipIf(process.platform !== 'linux')('the processes at the other end', () => {
  it('are those that hold the connection, and none after it has ended', async () => {
    const connected = Promise.withResolvers<Socket>()
    const server = createServer(connected.resolve)
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
    const text = `require('node:net').connect(${port}, '127.0.0.1').on('error', () => undefined)`
    const child = spawn(process.execPath, ['-e', text], { stdio: 'ignore' })
    const { localPort = 0, remoteAddress = '', remotePort = 0, ...socket } = await connected.promise
    const connection = { localPort, remoteAddress, remotePort }
    expect(peersOf(connection, 'linux')).toEqual([child.pid])
    // A program at another address of this machine may use the same port.
    expect(peersOf({ ...connection, remoteAddress: '127.0.0.2' }, 'linux')).toEqual([])
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await ended
    expect(peersOf(connection, 'linux')).toEqual([])
    expect(socket).toBeDefined()
    server.close()
  })
})

it('are not known on Windows', () => {
  const connection = { localPort: 1, remoteAddress: '127.0.0.1', remotePort: 2 }
  expect(peersOf(connection, 'win32')).toEqual([])
})

/** A browser, a helper of it, an agent client with a program below it, and a session of the desktop. */
const table: ProcessTable = {
  entry: (pid) => {
    const words = {
      2: 'gnome-shell',
      3: 'chromium',
      4: 'chromium --type=utility',
      5: 'claude',
      6: 'curl',
    }
    const parents = { 2: 1, 3: 2, 4: 3, 5: 2, 6: 5, 7: 3, 8: 999 }
    const [, line = 'sh'] = Object.entries(words).find(([key]) => Number(key) === pid) ?? []
    const [, parent] = Object.entries(parents).find(([key]) => Number(key) === pid) ?? []
    return parent === undefined ? undefined : { parent, words: line.split(' '), startedAt: '1' }
  },
  variables: (pid) => (pid === 7 ? ['PATH', 'CLAUDECODE'] : ['PATH']),
}
const of = (pids: readonly number[]) => ancestryOfPeer(pids, 'linux', table)

describe('the other end of a connection', () => {
  it('is without an agent client if none of its processes is below one', () => {
    expect(of([4])).toEqual({ kind: 'none' })
    expect(of([3, 4])).toEqual({ kind: 'none' })
  })

  it('is an agent client, below one, or started with the variables of its shell', () => {
    for (const pids of [[5], [6], [4, 6]]) {
      expect(of(pids)).toEqual({ kind: 'agent', client: 'Claude Code' })
    }
    expect(of([7])).toEqual({ kind: 'agent', client: 'Claude Code' })
  })

  it('is unknown if a process cannot be read, or if there is none', () => {
    expect(of([])).toEqual({ kind: 'unknown' })
    expect(of([8])).toEqual({ kind: 'unknown' })
    expect(of([3, 8])).toEqual({ kind: 'unknown' })
  })
})
