import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { bin } from '../../command-line.ts'

const withoutSdk = `import { registerHooks } from 'node:module'
registerHooks({
  resolve(name, context, next) {
    if (name === '@restatedev/restate-sdk') throw new Error('Cannot find package ' + name)
    return next(name, context)
  },
})`

it('a worker without the optional SDK names the command that installs it', () => {
  const preload = `data:text/javascript,${encodeURIComponent(withoutSdk)}`
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--no-warnings', '--import', preload, bin, 'worker', '--json', '--port', '0'],
    { encoding: 'utf8', timeout: 50_000 },
  )
  expect(status).toBe(1)
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'restate-sdk-missing',
    hint: 'npm install @restatedev/restate-sdk',
  })
})
