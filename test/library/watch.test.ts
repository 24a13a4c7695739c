import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { discoverSkills } from '../../src/library/discover.ts'
import { SkillManager } from '../../src/library/manager.ts'
import { type SkillChanges, watchSkills } from '../../src/library/watch.ts'
import { type World, world } from './_world.ts'

/** For events that a busy machine tells late. */
const patient = { timeout: 50_000 }

interface Watched {
  changes: SkillChanges[]
  searches: () => number
  close: () => void
}

function watch(place: World, times: { debounceMs?: number; pollMs?: number } = {}): Watched {
  const changes: SkillChanges[] = []
  let searches = 0
  const watcher = watchSkills({
    search: () => {
      searches++
      const { skills } = discoverSkills({ runtime: place.runtime, useIndex: false })
      const root = join(place.project, '.claude/skills')
      const names = readdirSync(place.project).includes('.claude') ? readdirSync(root) : []
      return { skills, directories: [root, ...names.map((name) => join(root, name))] }
    },
    listener: (change) => changes.push(change),
    debounceMs: 20,
    pollMs: 60_000,
    ...times,
  })
  onTestFinished(() => watcher.close())
  return { changes, searches: () => searches, close: () => watcher.close() }
}

it('tells what is new, gone and changed', async () => {
  const place = world()
  place.skill('project/.claude/skills/a')
  place.skill('project/.claude/skills/b')
  const { changes } = watch(place)
  place.skill('project/.claude/skills/c')
  await vi.waitFor(
    () => expect(changes).toContainEqual({ added: ['c'], removed: [], changed: [] }),
    patient,
  )
  place.skill('project/.claude/skills/a', { body: 'Something longer than before.' })
  await vi.waitFor(
    () => expect(changes).toContainEqual({ added: [], removed: [], changed: ['a'] }),
    patient,
  )
  rmSync(join(place.project, '.claude/skills/b'), { recursive: true })
  await vi.waitFor(
    () => expect(changes).toContainEqual({ added: [], removed: ['b'], changed: [] }),
    patient,
  )
})

it('searches once for many events', async () => {
  const place = world()
  place.skill('project/.claude/skills/a')
  const { changes, searches } = watch(place, { debounceMs: 200 })
  for (const name of ['x', 'y', 'z', 'w']) place.skill(`project/.claude/skills/${name}`)
  await vi.waitFor(() => expect(changes.length).toBeGreaterThan(0), patient)
  expect(changes[0]?.added).toEqual(['w', 'x', 'y', 'z'])
  expect(searches()).toBeLessThan(5)
})

it('finds places that did not exist before by looking again', async () => {
  const place = world()
  const { changes } = watch(place, { pollMs: 30 })
  place.skill('project/.claude/skills/a')
  await vi.waitFor(
    () => expect(changes).toEqual([{ added: ['a'], removed: [], changed: [] }]),
    patient,
  )
})

it('tells nothing after it was closed', async () => {
  const place = world()
  mkdirSync(join(place.project, '.claude/skills'), { recursive: true })
  const { changes, searches, close } = watch(place, { debounceMs: 1, pollMs: 5 })
  close()
  const before = searches()
  place.skill('project/.claude/skills/a')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(changes).toEqual([])
  expect(searches()).toBe(before)
})

it('keeps the answers of a manager up to date', async () => {
  const place = world()
  place.skill('project/.claude/skills/a')
  const skills = new SkillManager({ runtime: place.runtime, useIndex: false })
  const changes: SkillChanges[] = []
  const watcher = await skills.watch((change) => changes.push(change))
  onTestFinished(() => watcher.close())
  place.skill('project/.claude/skills/b')
  await vi.waitFor(() => expect(changes).toHaveLength(1), patient)
  expect((await skills.list()).map(({ name }) => name)).toEqual(['a', 'b'])
})
