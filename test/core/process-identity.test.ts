import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { isAlive, ownIdentity } from '../../src/core/file-lock.ts'

describe('a process', () => {
  it('is alive while it runs, and not under the ID of another process', () => {
    const own = ownIdentity()
    expect(isAlive(own)).toBe(true)
    expect(isAlive({ ...own, startedAt: '1' })).toBe(process.platform !== 'linux')
  })

  it.runIf(process.platform === 'linux')(
    'is not alive after it has ended and its parent does not wait',
    async () => {
      // The shell becomes a program that never asks after its child.
      const parent = spawn('/bin/sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 30'])
      try {
        const output = await new Promise((resolve) => parent.stdout.once('data', resolve))
        const identity = { pid: Number(String(output)), host: hostname() }
        while (isAlive(identity)) await new Promise((resolve) => setTimeout(resolve, 20))
        expect(() => process.kill(identity.pid, 0)).not.toThrow()
      } finally {
        parent.kill('SIGKILL')
      }
    },
  )
})
