import { describe, expect, it } from 'vitest'
import { growthOf } from '../work-count.ts'

const works = new URL('_growth-works.ts', import.meta.url)

describe('the work on', () => {
  it.each([
    ['places in TOML', 'placesInToml', 100],
    ['a choice of servers', 'choiceOfServers', 400],
    ['cycles of workflows', 'cyclesOfWorkflows', 200],
    ['objects in a text', 'objectsInText', 4000],
    ['files that a body names', 'filesThatBodyNames', 100],
    ['names that are alike', 'similarNames', 200],
    ['spans of code', 'spansOfCode', 20],
    ['steps of a chain', 'stepsOfChain', 100],
    ['blanks in a block of text', 'blanksInBlocks', 400],
    ['blanks at the ends of lines', 'blanksAtEnds', 50],
    ['shell lines that a guard reads', 'guardedLines', 100],
  ])('%s grows linearly with the input', async (_, name, size) => {
    expect(await growthOf(works, name, size)).toBeLessThan(8)
  })

  it('one shell line hardly grows with the number of guards that read it', async () => {
    expect(await growthOf(works, 'guardsOfLine', 2)).toBeLessThan(2)
  })
})
