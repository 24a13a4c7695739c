import { expect, it } from 'vitest'
import { windowsProgram } from '../../src/core/find-program.ts'

// Windows looks for a program without a folder in the working directory first.

it.each([
  [{ SystemRoot: 'D:\\WIN' }, 'D:\\WIN\\System32\\cmd.exe'],
  [{ SYSTEMROOT: 'D:\\WIN' }, 'D:\\WIN\\System32\\cmd.exe'],
  [{ SystemRoot: 'tools' }, 'C:\\Windows\\System32\\cmd.exe'],
  [{ SystemRoot: '' }, 'C:\\Windows\\System32\\cmd.exe'],
  [{}, 'C:\\Windows\\System32\\cmd.exe'],
])('a Windows program is started from the system folder: %j', (env, path) => {
  expect(windowsProgram('cmd.exe', { env, cwd: '/project' })).toBe(path)
})
