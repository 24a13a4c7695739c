import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { collectActingParts } from '../../src/trust/acting-parts.ts'
import { folderEntries, runners } from '../../src/trust/runners.ts'
import { notCompared } from '../../src/trust/server-files.ts'
import { assessWorkspace } from '../../src/trust/skill-trust.ts'
import { TrustStore } from '../../src/trust/store.ts'
import { runtimeIn, temporaryDirectory, writeFiles } from './_project.ts'

type Files = Readonly<Record<string, string>>

function projectWith(command: string, args: readonly string[], files: Files = {}): string {
  const workspace = temporaryDirectory()
  const configuration = { mcpServers: { own: { command, args } } }
  writeFiles(workspace, { '.mcp.json': JSON.stringify(configuration), ...files })
  return workspace
}

/** The paths that differ from what was accepted, after something was written. */
async function changedBy(workspace: string, write: () => void, pinned = false): Promise<string[]> {
  const store = new TrustStore(runtimeIn(temporaryDirectory()))
  const options = { text: pinned }
  await store.accept(workspace, collectActingParts(workspace, [], options), { pinned })
  write()
  const accepted = store.find(workspace)
  const { changes } = assessWorkspace(accepted, collectActingParts(workspace, [], options))
  return changes.map(({ part }) => part.path)
}

const jsonFile = /(?:\.json|deno\.jsonc)$/

const rows = runners.flatMap(({ programs, reads }) =>
  reads.map((name) => [programs[0] ?? '', name.replace('*', 'any')] as const),
)

describe('a file that a runner reads first', () => {
  it.each(rows)('is compared for %s: %s', async (program, name) => {
    const content = (scripts: string) => (jsonFile.test(name) ? `{"scripts":${scripts}}` : scripts)
    const workspace = projectWith(program, ['serve'], { [name]: content('{"a":"b"}') })
    const change = () => writeFileSync(join(workspace, name), content('{"a":"curl"}'))
    expect(await changedBy(workspace, change)).toEqual([name])
  })

  it.each(rows)('is compared for %s if it is new: %s', async (program, name) => {
    const workspace = projectWith(program, ['serve'])
    const create = () =>
      writeFiles(workspace, { [name]: jsonFile.test(name) ? '{"scripts":1}' : 'a' })
    expect(await changedBy(workspace, create)).toEqual([name])
  })

  it.each(['/usr/bin/make', 'make.exe', 'sh -c "cd tools; make mcp"', 'env', 'gmake'])(
    'is compared for every spelling of the runner: %s',
    async (command) => {
      const workspace = projectWith(command, ['make', 'mcp'], { Makefile: 'mcp:\n' })
      const change = () => writeFileSync(join(workspace, 'Makefile'), 'mcp:\n\tcurl\n')
      expect(await changedBy(workspace, change)).toEqual(['Makefile'])
    },
  )

  it.each(folderEntries)('is compared as the entry of a folder: %s', async (name) => {
    const path = `srv/${name}`
    const workspace = projectWith('anything', ['./srv'], { [path]: '{"main":"a"}' })
    const change = () => writeFileSync(join(workspace, path), '{"main":"b"}')
    expect(await changedBy(workspace, change)).toEqual([path])
  })

  it.each([
    [
      'the entry of a package',
      'node',
      ['./srv'],
      { 'srv/package.json': '{"main":"lib/a"}' },
      'srv/lib/a.js',
    ],
    [
      'exports',
      'node',
      ['./srv'],
      { 'srv/package.json': '{"exports":{".":"./b.mjs"}}' },
      'srv/b.mjs',
    ],
    ['the project itself', 'node', ['.'], { 'package.json': '{"main":"c.js"}' }, 'c.js'],
    [
      'a script',
      'npm',
      ['run', 'mcp'],
      { 'package.json': '{"scripts":{"mcp":"node d.js"}}' },
      'd.js',
    ],
    [
      'a script before it',
      'npm',
      ['run', 'mcp'],
      { 'package.json': '{"scripts":{"mcp":"x","premcp":"sh e.sh"}}' },
      'e.sh',
    ],
    [
      'a script in a script',
      'pnpm',
      ['mcp'],
      { 'package.json': '{"scripts":{"mcp":"npm run go","go":"node f.js"}}' },
      'f.js',
    ],
    [
      'npm start without a script',
      'npm',
      ['start'],
      { 'package.json': '{"scripts":{}}' },
      'server.js',
    ],
    [
      'a program of the project',
      'npx',
      ['own'],
      { 'package.json': '{"bin":{"own":"g.js"}}' },
      'g.js',
    ],
    ['a program of a package', 'npx', ['tool'], {}, 'node_modules/.bin/tool'],
    ['a program of an environment', 'uv', ['run', 'tool'], {}, '.venv/bin/tool'],
    [
      'a target of make',
      'make',
      ['mcp'],
      { Makefile: 'mcp:\n\tpython3 tools/h.py\n' },
      'tools/h.py',
    ],
    [
      'a file that a Makefile includes',
      'make',
      ['mcp'],
      { Makefile: 'include tools/common.mk\n' },
      'tools/common.mk',
    ],
    [
      'a Makefile in a folder',
      'make',
      ['-C', 'tools', 'mcp'],
      { 'tools/Makefile': 'mcp:\n\t./i.sh\n' },
      'tools/i.sh',
    ],
    [
      'a Makefile by another name',
      'make',
      ['-f', 'build/x.make'],
      { 'build/x.make': 'a:\n\t./j.sh\n' },
      'build/j.sh',
    ],
    [
      'a task of deno',
      'deno',
      ['task', 'mcp'],
      { 'deno.json': '{"tasks":{"mcp":"deno run k.ts"}}' },
      'k.ts',
    ],
    [
      'a script of pyproject',
      'uv',
      ['run', 'x'],
      { 'pyproject.toml': '[project.scripts]\nx = "pkg.l:main"\n' },
      'pkg/l.py',
    ],
    ['a package of Python', 'python3', ['-m', 'pkg'], {}, 'pkg/__main__.py'],
    ['a package in a package', 'python3.12', ['-m', 'pkg.sub'], {}, 'pkg/sub/__main__.py'],
    ['a compose file by name', 'docker', ['compose', '-f', 'c.prod.yml', 'up'], {}, 'c.prod.yml'],
    [
      'what a compose file builds',
      'docker',
      ['compose', 'run', 'x'],
      { 'compose.yaml': 'services: {x: {build: ./img}}\n' },
      'img/Dockerfile',
    ],
    ['a recipe of just', 'just', ['mcp'], { Justfile: 'mcp:\n  node m.mjs\n' }, 'm.mjs'],
    [
      'a task',
      'task',
      ['mcp'],
      { 'Taskfile.yml': 'tasks: {mcp: {cmds: ["node n.mjs"]}}\n' },
      'n.mjs',
    ],
    [
      'a workspace of npm',
      'npm',
      ['--prefix', 'packages/s', 'start'],
      { 'packages/s/package.json': '{"scripts":{"start":"node o.js"}}' },
      'packages/s/o.js',
    ],
  ] as const)(
    'can name further files, which are compared too: %s',
    async (_, command, args, files, path) => {
      const workspace = projectWith(command, args, { ...files, [path]: 'one' })
      const change = () => writeFileSync(join(workspace, path), 'two')
      expect(await changedBy(workspace, change)).toEqual([path])
      expect(
        await changedBy(workspace, () => writeFileSync(join(workspace, path), 'three'), true),
      ).toEqual([path])
    },
  )

  it('follows a link in the place of a local program', async () => {
    const workspace = projectWith('npx', ['tool'], {
      'lib/cli.txt': 'one',
      'node_modules/.bin/x': '',
    })
    symlinkSync('../../lib/cli.txt', join(workspace, 'node_modules/.bin/tool'))
    chmodSync(join(workspace, 'lib/cli.txt'), 0o755)
    const change = () => writeFileSync(join(workspace, 'lib/cli.txt'), 'two')
    expect(await changedBy(workspace, change)).toEqual(['node_modules/.bin/tool'])
  })

  it('is not compared for its packages and for scripts that nothing starts', async () => {
    const manifest = (version: string) =>
      JSON.stringify({ dependencies: { a: version }, scripts: { build: 'node build.js' } })
    const workspace = projectWith('npm', ['run', 'mcp'], {
      'package.json': manifest('1'),
      'build.js': 'one',
    })
    const change = () => writeFiles(workspace, { 'package.json': manifest('2'), 'build.js': 'two' })
    expect(await changedBy(workspace, change)).toEqual([])
  })

  it('is not compared if the configuration names no runner', async () => {
    const workspace = projectWith('my-server', ['--stdio'], {
      Makefile: 'a:\n',
      'package.json': '{"scripts":{}}',
    })
    const change = () =>
      writeFiles(workspace, { Makefile: 'b:\n', 'package.json': '{"scripts":{"a":"b"}}' })
    expect(await changedBy(workspace, change)).toEqual([])
  })

  it('is read once if manifests name each other in circles', () => {
    const workspace = projectWith('make', ['a'], {
      Makefile: 'include b.mk ./sub\n',
      'b.mk': 'include Makefile\n',
      'sub/Makefile': 'include ../Makefile\n',
    })
    symlinkSync('..', join(workspace, 'sub/up'))
    const paths = collectActingParts(workspace, []).map(({ path }) => path)
    expect(paths.toSorted()).toEqual(['.mcp.json', 'Makefile', 'b.mk', 'sub/Makefile'])
  })
})

it('each runner has inputs that are not compared, or none', () => {
  expect(notCompared('{"command":"my-server"}')).toEqual(['what the programs import'])
  expect(notCompared('{"command":"npx","args":["-y","thing"]}')).toEqual([
    'what the programs import',
    'packages in node_modules and those that it downloads',
  ])
})
