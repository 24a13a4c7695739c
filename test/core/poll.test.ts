import { describe, expect, it } from 'vitest'
import { poll } from '../../src/core/poll.ts'

describe('poll', () => {
  it('returns the first answer that is neither undefined nor false', async () => {
    const answers = [undefined, false, 0] as const
    let asked = 0
    const look = (): 0 | undefined | false => answers[asked++]
    expect(await poll(look, { everyMs: 1, patienceMs: 10_000 })).toBe(0)
    expect(asked).toBe(3)
  })

  it('asks at least once, also without patience', async () => {
    expect(await poll(() => 'here', { everyMs: 1, patienceMs: 0 })).toBe('here')
  })

  it('asks once more when the time is over, and then gives up', async () => {
    let asked = 0
    const look = (): false => {
      asked++
      return false
    }
    expect(await poll(look, { everyMs: 1, patienceMs: 20 })).toBeUndefined()
    expect(asked).toBeGreaterThan(1)
  })

  it('ends with the reason of an abort', async () => {
    const stop = new AbortController()
    const waiting = poll(() => undefined, { everyMs: 1, patienceMs: 60_000, signal: stop.signal })
    stop.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
  })

  it('passes on what the question throws', async () => {
    const look = (): never => {
      throw new Error('broken')
    }
    await expect(poll(look, { everyMs: 1, patienceMs: 1000 })).rejects.toThrow('broken')
  })
})
