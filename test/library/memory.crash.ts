import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { library } from '../command-line.ts'
import { fixture } from './_fixture.ts'

/**
 * Measures what a discovery keeps, in a process of its own. What a skill's texts take is subtracted:
 * one byte a character for each different string that is held.
 */
const script = `
  import { SkillManager, systemRuntime } from ${JSON.stringify(library)}
  const [cwd, home] = process.argv.slice(1)
  const now = () => Date.now() + 60000
  const runtime = systemRuntime({ cwd, home, env: {}, now })
  const collect = () => { for (let times = 0; times < 4; times++) gc() }
  const strings = (value, seen) => {
    if (typeof value === 'string') seen.add(value)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) strings(item, seen)
    }
    return seen
  }
  const discover = async (runtime) => {
    const { skills } = await new SkillManager({ runtime }).discover()
    return skills
  }
  const measure = async () => {
    collect()
    const before = process.memoryUsage().heapUsed
    const skills = await discover(runtime)
    collect()
    const kept = process.memoryUsage().heapUsed - before
    const text = [...strings(skills, new Set())].reduce((sum, one) => sum + one.length, 0)
    return { count: skills.length, perSkill: (kept - text) / skills.length }
  }
  await discover({ ...runtime, cwd: home })
  console.log(JSON.stringify({ cold: await measure(), warm: await measure() }))
`

describe('ten thousand skills', () => {
  it('need less than 1 KB for each skill beyond its own strings', () => {
    const place = fixture()
    for (let index = 0; index < 10_000; index++) {
      const name = `skill-${String(index).padStart(5, '0')}`
      place.skill(`project/.claude/skills/${name}`, {
        more: 'license: MIT\nallowed-tools: Bash(git:*) Read\nmetadata:\n  author: example',
        body: 'A line of instructions that is not kept.\n'.repeat(150),
      })
    }
    const measure = (): Record<string, { count: number; perSkill: number }> =>
      JSON.parse(
        execFileSync(
          process.execPath,
          ['--expose-gc', '--input-type=module', '-e', script, place.project, place.home],
          { encoding: 'utf8', env: {} },
        ),
      )
    // On a busy machine a collection may leave some garbage: the lower of two measurements counts.
    const runs = [measure(), measure()]
    for (const kind of ['cold', 'warm']) {
      expect(runs.map((run) => run[kind]?.count)).toEqual([10_000, 10_000])
      expect(Math.min(...runs.map((run) => run[kind]?.perSkill ?? Infinity))).toBeLessThan(1024)
    }
  }, 120_000)
})
