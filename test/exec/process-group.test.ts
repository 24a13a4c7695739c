import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { groupIsGone } from '../../src/exec/_process-group.ts'

const onLinux = process.platform === 'linux'

it.runIf(onLinux)('counts a program that has ended and is not yet buried as gone', async () => {
  // A shell that starts a group, never waits for it, and stays.
  const program =
    'import os, time\npid = os.fork()\nif pid == 0:\n  os.setpgid(0, 0); os._exit(0)\n'
  const keeper = spawn('python3', [
    '-c',
    `${program}time.sleep(0.3); print(pid, flush=True); time.sleep(30)`,
  ])
  try {
    const [chunk] = await once(keeper.stdout, 'data')
    const pid = Number(String(chunk))
    expect(() => process.kill(pid, 0), 'the zombie is there').not.toThrow()
    expect(groupIsGone(pid)).toBe(true)
  } finally {
    keeper.kill('SIGKILL')
  }
})

it('counts a program that runs as alive, and none as gone', async () => {
  const child = spawn('sleep', ['30'], { detached: true })
  const pid = child.pid ?? 0
  expect(groupIsGone(pid)).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(groupIsGone(pid)).toBe(true)
})
