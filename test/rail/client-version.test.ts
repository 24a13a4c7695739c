import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { adapters, isPlatform } from '../../src/hooks/adapters.ts'
import { clientVersion } from '../../src/rail/client-version.ts'
import { clientPackages } from '../clients/cache.ts'

let directory: string
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'client-version-')))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

function write(path: string, text: string): string {
  const file = join(directory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const nothing = { env: {}, transcript: undefined, clientProcess: undefined }

describe('the version of a client', () => {
  it('is in the environment of Claude Code’s hooks, and not in what another client inherits', () => {
    const env = { AI_AGENT: 'claude-code_2-1-332_harness' }
    expect(clientVersion('claude', { ...nothing, env })).toBe('2.1.332')
    expect(clientVersion('codex', { ...nothing, env })).toBeUndefined()
    expect(clientVersion('claude', { ...nothing, env: { AI_AGENT: 'other_1' } })).toBeUndefined()
  })

  it.each([
    ['Codex', { type: 'session_meta', payload: { id: 's', cli_version: '0.171.0' } }, '0.171.0'],
    ['Claude Code', { type: 'user', version: '2.1.332' }, '2.1.332'],
    ['nobody', { type: 'user', version: 3 }, undefined],
    ['an attacker', { type: 'user', version: '\u001b[31m1.0' }, undefined],
  ])('is in the first lines of a transcript of %s', (_, row, version) => {
    const lines = ['not JSON', { type: 'queue-operation' }, row, { version: '9.9.9' }]
    const text = lines
      .slice(0, 3)
      .map((line) => JSON.stringify(line))
      .join('\n')
    const transcript = write('transcript.jsonl', text)
    expect(clientVersion('codex', { ...nothing, transcript })).toBe(version)
  })

  it('is left out if there is no transcript and no process', () => {
    const transcript = join(directory, 'missing.jsonl')
    const clientProcess = { pid: 2 ** 30, startedAt: '' }
    expect(clientVersion('codex', { ...nothing, transcript, clientProcess })).toBeUndefined()
  })
})

describe.skipIf(process.platform !== 'linux')('the version of a client in a package', () => {
  let child: ChildProcess
  afterEach(() => child.kill())

  async function versionOf(script: string, platform: string): Promise<string | undefined> {
    child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'ignore'] })
    if (child.stdout) await once(child.stdout, 'data')
    if (child.pid === undefined || !isPlatform(platform)) throw new Error('it did not start')
    const clientProcess = { pid: child.pid, startedAt: '' }
    return clientVersion(platform, { ...nothing, clientProcess })
  }

  const waiting = 'console.log("ready"); setInterval(() => undefined, 1000)'

  it.each(Object.entries(clientPackages))(
    'is that of the package of %s',
    async (platform, { name }) => {
      write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.2.3' }))
      write(`node_modules/${name}/dist/package.json`, '{ "type": "commonjs" }')
      const script = write(`node_modules/${name}/dist/cli.js`, waiting)
      const link = join(directory, 'start.js')
      symlinkSync(script, link)
      expect(adapters).toHaveProperty(platform)
      expect(await versionOf(link, platform)).toBe('1.2.3')
    },
  )

  it('is without the system that a package for one system repeats', async () => {
    const manifest = { name: '@openai/codex', version: '0.171.0-linux-x64' }
    write('node_modules/@openai/codex-linux-x64/package.json', JSON.stringify(manifest))
    const script = write('node_modules/@openai/codex-linux-x64/bin/codex.js', waiting)
    expect(await versionOf(script, 'codex')).toBe('0.171.0')
  })

  it('is never that of a project or of another client', async () => {
    write('package.json', JSON.stringify({ name: 'project', version: '7.7.7' }))
    expect(await versionOf(write('claude.js', waiting), 'claude')).toBeUndefined()
    child.kill()
    const manifest = { name: '@openai/codex', version: '0.171.0' }
    write('package.json', JSON.stringify(manifest))
    expect(await versionOf(join(directory, 'claude.js'), 'claude')).toBeUndefined()
  })
})
