import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

const entry = (name: string): string => new URL(`../../../src/${name}`, import.meta.url).href

/** Runs a program in a process where this package cannot be found. */
function without(packageName: string, program: string) {
  const hooks = `
    const { registerHooks } = await import('node:module')
    const missing = Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' })
    registerHooks({
      resolve(name, context, next) {
        if (name === ${JSON.stringify(packageName)}) throw missing
        return next(name, context)
      },
    })`
  const options = {
    encoding: 'utf8' as const,
    env: { PATH: process.env['PATH'], HOME: '/nowhere' },
  }
  return spawnSync(process.execPath, ['--input-type=module', '-e', hooks + program], options)
}

it('says in a run how to install the missing AI SDK', () => {
  const { stdout } = without(
    'ai',
    `
    const { Agent } = await import(${JSON.stringify(entry('agent/agent.ts'))})
    const agent = new Agent({ model: 'ollama:small' })
    for (const run of [() => agent.run('Go.'), () => agent.stream('Go.').result]) {
      await run().catch(({ code, message, hint }) => console.log(code, message, hint))
    }`,
  )
  const line = /ai-not-installed Models need the package ai, .* npm install ai@7/g
  expect(stdout.match(line)).toHaveLength(2)
})

it('says on the command line how to install the missing AI SDK', () => {
  const { stderr } = without(
    'ai',
    `
    process.argv.push('skillrail', 'agent', 'Go.', '--model', 'ollama:small')
    await import(${JSON.stringify(entry('cli/bin.ts'))})`,
  )
  expect(stderr).toContain('npm install ai@7')
})

it('says on the command line how to install the package of a local model', () => {
  const { stderr } = without(
    '@ai-sdk/openai-compatible',
    `
    process.argv.push('skillrail', 'agent', 'Go.', '--model', 'ollama:small')
    await import(${JSON.stringify(entry('cli/bin.ts'))})`,
  )
  expect(stderr).toContain('npm install ai@7 @ai-sdk/openai-compatible@3')
  expect(stderr).not.toContain('defect')
})
