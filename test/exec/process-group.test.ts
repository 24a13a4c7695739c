import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { groupIsGone } from '../../src/exec/process-group.ts'
import { until } from '../patience.ts'

const onLinux = process.platform === 'linux'

it.runIf(onLinux)('counts a zombie process as gone', async () => {
  // The shell starts a group and becomes a program that never asks after it.
  const keeper = spawn('/bin/sh', ['-c', 'set -m; sleep 0.1 & echo $!; exec sleep 600'])
  try {
    const [chunk] = await once(keeper.stdout, 'data')
    const pid = Number(String(chunk))
    await until(() => groupIsGone(pid))
    expect(() => process.kill(pid, 0), 'the zombie is there').not.toThrow()
  } finally {
    keeper.kill('SIGKILL')
  }
})

it('counts a running program as alive, and a missing one as gone', async () => {
  const child = spawn('sleep', ['30'], { detached: true })
  const pid = child.pid ?? 0
  expect(groupIsGone(pid)).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(groupIsGone(pid)).toBe(true)
})
