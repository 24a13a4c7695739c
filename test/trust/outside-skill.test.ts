import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLeftBehind, resolveInside } from '../../src/core/read-files.ts'
import { findScript } from '../../src/exec/find-script.ts'
import { listResources } from '../../src/library/skill-files.ts'
import { readTarget } from '../../src/trigger/inject.ts'
import { collectSkillParts } from '../../src/trust/acting-parts.ts'
import { currentSkills, lockStateOf } from '../../src/trust/lock.ts'
import { LockStore } from '../../src/trust/lock-store.ts'
import { skillTree } from '../../src/trust/skill-files.ts'
import { runtimeIn, skillIn, temporaryDirectory, writeFiles } from './_project.ts'

const names = ['.DS_Store', 'Thumbs.db', 'desktop.ini', '.run.sh.swp', '.guide.md.swo']

describe.each(names)('%s, which programs create in a skill,', (name) => {
  const path = `scripts/${name}`

  async function locked() {
    const root = temporaryDirectory()
    const directory = join(root, 'project/skill')
    writeFiles(directory, { 'SKILL.md': 'text' })
    const store = new LockStore(runtimeIn(root), join(root, 'project'))
    await store.write(
      currentSkills(join(root, 'project'), [{ name: 'a', realDirectory: directory }]),
    )
    writeFiles(directory, { [path]: '#!/bin/sh\necho text\n' })
    chmodSync(join(directory, path), 0o755)
    const state = () => lockStateOf(join(root, 'project'), directory)
    return { directory, state }
  }

  it('is neither drift nor a change since the acceptance', async () => {
    const { directory, state } = await locked()
    expect(state()).toBeUndefined()
    expect(collectSkillParts(dirname(directory), skillIn(directory), { text: true })).toHaveLength(
      1,
    )
  })

  it('is not run, injected or offered, in any spelling and through a link', async () => {
    const { directory } = await locked()
    symlinkSync(path, join(directory, 'guide.md'))
    for (const way of [path, `scripts/../${path}`, 'guide.md']) {
      expect(readTarget(directory, way)).toMatchObject({ ok: false, code: 'path-left-out' })
      expect(findScript(directory, way)).toMatchObject({
        kind: 'broken',
        diagnostic: { message: expect.stringContaining('is not part of a skill') },
      })
    }
    expect(listResources(directory).files.map((file) => file.path)).toEqual(['guide.md'])
  })

  it('is refused if `run` names it', async () => {
    const { directory } = await locked()
    const parts = collectSkillParts(dirname(directory), skillIn(directory, { run: path }))
    expect(parts).toContainEqual(
      expect.objectContaining({
        digest: 'unreadable',
        problem: 'is run by the skill, but is in a place that cannot be verified',
      }),
    )
  })

  it('is part of the digest as a folder and as a link', async () => {
    const { directory, state } = await locked()
    rmSync(join(directory, path))
    expect(state()).toBeUndefined()
    mkdirSync(join(directory, path))
    writeFileSync(join(directory, path, 'run.sh'), '')
    expect(state()).toBe('drifted')
    rmSync(join(directory, path), { recursive: true })
    symlinkSync('../SKILL.md', join(directory, path))
    expect(state()).toBe('drifted')
  })
})

it('a digest leaves out no other name', () => {
  for (const name of [
    '.ds_store.sh',
    'x.swp',
    '.swp',
    'run.sh~',
    '#run.sh#',
    '.env',
    '__pycache__',
  ]) {
    expect([name, isLeftBehind(name)]).toEqual([name, false])
  }
})

it('a skill that is the project runs and injects nothing of its .git and .skillrail', () => {
  const directory = temporaryDirectory()
  const files = ['.git/hooks/run.sh', '.skillrail/run.sh']
  writeFiles(directory, { 'SKILL.md': '', ...Object.fromEntries(files.map((file) => [file, 'x'])) })
  symlinkSync('.git/hooks', join(directory, 'way'))
  symlinkSync('.git/hooks', join(directory, 'scripts'))
  expect(skillTree(directory, directory).files.map(({ path }) => path)).not.toContain(files[0])
  for (const way of [...files, 'way/run.sh', 'scripts/run.sh', 'a/../.git/hooks/run.sh']) {
    mkdirSync(join(directory, 'a'), { recursive: true })
    expect(findScript(directory, way)).toMatchObject({ kind: 'broken' })
    expect(readTarget(directory, way)).toMatchObject({ ok: false, code: 'path-left-out' })
  }
  expect(findScript(directory, undefined)).toMatchObject({ kind: 'broken' })
  for (const run of files) {
    const problems = collectSkillParts(directory, skillIn(directory, { run })).flatMap(
      ({ problem }) => problem ?? [],
    )
    expect(problems).toEqual(['is run by the skill, but is in a place that cannot be verified'])
  }
})

it('every file that a skill can run or inject is in its digest, or is refused', () => {
  const part = fc.oneof(
    fc.constantFrom(
      ...names,
      '.git',
      '.skillrail',
      '.GIT',
      '.ds_STORE',
      'THUMBS.DB',
      'node_modules',
    ),
    fc.stringMatching(/^[.a-z]?[a-zA-Z_.]{0,4}[a-z](?:\.swp|~)?$/),
  )
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      fc.boolean(),
      (way, isWorkspace, throughLink) => {
        const workspace = temporaryDirectory()
        const directory = isWorkspace ? workspace : join(workspace, 'skill')
        const path = way.join('/')
        writeFiles(directory, { 'SKILL.md': '', [path]: 'one' })
        if (throughLink) symlinkSync(way[0] ?? '', join(directory, 'link'))
        const digestNow = () => skillTree(workspace, directory).digest
        const before = digestNow()
        writeFileSync(join(directory, path), 'two')
        const counts = digestNow() !== before
        const asked = throughLink ? ['link', ...way.slice(1)].join('/') : path
        expect([path, counts || !resolveInside(directory, asked).ok]).toEqual([path, true])
        rmSync(workspace, { recursive: true })
      },
    ),
    { numRuns: 300 },
  )
})
