import { expect, it } from 'vitest'
import { childEnvironment } from '../../src/exec/process.ts'

const ours = {
  PATH: '/bin',
  HOME: '/home/u',
  USER: 'u',
  LOGNAME: 'u',
  SHELL: '/bin/zsh',
  LANG: 'C',
  LC_ALL: 'C',
  TMPDIR: '/t',
  OPENAI_API_KEY: 'secret',
  NODE_OPTIONS: '--inspect',
  WANTED: 'yes',
  Path: 'c:\\bin',
  SystemRoot: 'c:\\w',
}

it('passes on programs, user, locale and configured variables, and nothing else', () => {
  const runtime = { env: ours, platform: 'linux' } as const
  expect(childEnvironment(runtime, ['WANTED', 'ABSENT'], { SKILLRAIL_STEP: 's' })).toEqual({
    PATH: '/bin',
    HOME: '/home/u',
    USER: 'u',
    LOGNAME: 'u',
    SHELL: '/bin/zsh',
    LANG: 'C',
    LC_ALL: 'C',
    TMPDIR: '/t',
    WANTED: 'yes',
    PYTHONDONTWRITEBYTECODE: '1',
    SKILLRAIL_STEP: 's',
  })
})

it('reads names in any case on Windows, and passes on the variables that programs need', () => {
  const environment = childEnvironment({ env: ours, platform: 'win32' }, [], {})
  expect(environment).toMatchObject({ Path: 'c:\\bin', SystemRoot: 'c:\\w' })
  expect(environment).not.toHaveProperty('OPENAI_API_KEY')
})
