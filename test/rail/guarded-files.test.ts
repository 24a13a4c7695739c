import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSession } from './_session.ts'

/** A session with files, links to them and a repository inside, in the first step of a chain. */
async function startedSession(options: string, client: 'claude' | 'copilot' | 'pi' = 'claude') {
  const session = makeSession(
    {
      ship: {
        metadata: ['chain: |', `  implement ${options}`, '  publish guard="Edit(src/*)"'],
      },
      implement: {},
      publish: {},
    },
    client,
  )
  const at = (path: string): string => join(session.directory, path)
  session.write('src/a.ts', '1')
  session.write('docs/a.md', '1')
  mkdirSync(at('sub/docs'), { recursive: true })
  execFileSync('git', ['init', '-q', at('sub')])
  symlinkSync('src', at('link'))
  symlinkSync('../src', at('docs/link'))
  symlinkSync('../src/new.ts', at('docs/new'))
  symlinkSync('loop', at('docs/loop'))
  mkdirSync(at('src/deep'))
  symlinkSync('src/deep', at('deep'))
  const sent = await session.prompt(client === 'pi' ? '/skill:ship' : '/ship')
  expect(sent).toBeDefined()
  return { ...session, at }
}

describe('a guard on files', () => {
  it.each([
    ['its path', 'src/a.ts'],
    ['a link to its directory', 'link/a.ts'],
    ['a link inside of another directory', 'docs/link/b.ts'],
    ['a link to a file that does not exist yet', 'docs/new'],
    ['`..` after a link', 'deep/../a.ts'],
    ['a useless `..`', 'docs/../src/a.ts'],
    ['a useless `.`', './src/./a.ts'],
    ['other letters', 'SRC/A.ts'],
    ['a loop of links', 'docs/loop'],
    ["the process's own directory", '/proc/self/cwd/src/a.ts'],
    ["the process's own files", '/dev/fd/3'],
  ])('denies %s: %s', async (_, path) => {
    const session = await startedSession('check="false"')
    expect(await session.call('Edit', { file_path: path })).toContain('belongs to the step')
  })

  it('denies the same file from every directory that the client reports', async () => {
    const session = await startedSession('check="false"')
    for (const cwd of [session.directory, session.at('sub'), session.at('docs'), '/usr']) {
      const paths = [session.at('src/a.ts'), relative(cwd, session.at('src/a.ts'))]
      for (const file_path of paths) {
        const reason = await session.call('Edit', { file_path }, { cwd })
        expect({ cwd, file_path, reason }).toMatchObject({
          reason: expect.stringContaining('belongs to the step'),
        })
      }
    }
  })

  it('denies every tool that edits, whichever of its fields has the path', async () => {
    const session = await startedSession('check="false"')
    const inputs: [string, object][] = [
      ['Write', { file_path: 'src/a.ts', content: '' }],
      ['MultiEdit', { file_path: 'src/a.ts', edits: [] }],
      ['NotebookEdit', { notebook_path: 'src/a.ts' }],
      ['Edit', { file_path: 'docs/a.md', path: 'src/a.ts' }],
      ['Edit', { paths: ['docs/a.md', 'src/a.ts'] }],
      ['Edit', { absolute_path: session.at('src/a.ts') }],
      ['Edit', { file_path: ['src/a.ts'] }],
      ['Edit', { file_path: 7 }],
      ['Edit', {}],
      ['apply_patch', { input: '*** Begin Patch\n  *** Update File: src/a.ts \n*** End Patch' }],
      ['Bash', { command: "apply_patch '*** Begin Patch\n*** Add File: src/a.ts\n'" }],
    ]
    for (const [tool, input] of inputs) {
      expect({ tool, input, reason: await session.call(tool, input) }).toMatchObject({
        reason: expect.stringContaining('belongs to the step'),
      })
    }
  })

  it('allows other files', async () => {
    const session = await startedSession('check="false"')
    for (const file_path of ['docs/a.md', 'sub/src/a.ts', 'docs/src/x', '/tmp/src/a.ts']) {
      expect(await session.call('Edit', { file_path })).toBe(undefined)
    }
    expect(await session.call('Read', { file_path: 'src/a.ts' })).toBe(undefined)
  })

  it('denies a subagent that works in a repository inside of the project', async () => {
    const session = await startedSession('check="false"', 'copilot')
    session.use('subagent')
    const call = { toolName: 'edit', toolArgs: { path: session.at('src/a.ts') } }
    const event = { hook_event_name: 'preToolUse', cwd: session.at('sub'), timestamp: 1, ...call }
    expect(JSON.stringify(await session.send(event))).toContain('belongs to the step')
  })
})

describe('a list of tools with files', () => {
  it('allows only what is really there', async () => {
    const session = await startedSession('check="false" tools="Edit(docs/*)"')
    for (const file_path of [
      'docs/a.md',
      'docs/new.md',
      session.at('docs/a.md'),
      'src/../docs/x',
    ]) {
      expect(await session.call('Edit', { file_path })).toBe(undefined)
    }
    for (const file_path of [
      'docs/link/a.ts',
      'docs/new',
      'docs/loop',
      'docs/../src/x',
      'DOCS/../x',
      'sub/docs/x.md',
      '/proc/self/cwd/docs/a.md',
      '~/docs/a.md',
    ]) {
      const reason = await session.call('Edit', { file_path })
      expect({ file_path, reason }).toMatchObject({
        reason: expect.stringMatching(/allows only|belongs to the step/),
      })
    }
    const cwd = session.at('sub')
    expect(await session.call('Edit', { file_path: 'docs/x.md' }, { cwd })).toContain('allows only')
    const two = { file_path: 'docs/a.md', path: 'src/a.ts' }
    expect(await session.call('Edit', two)).toMatch(/allows only|belongs to the step/)
  })
})
