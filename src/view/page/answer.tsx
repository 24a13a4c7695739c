import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Answers } from '../questions.ts'
import { type Child, Trouble } from './parts.tsx'
import { ask, AskError } from './server.ts'

export interface Asked<T> {
  answer?: T | undefined
  error?: unknown
}

interface Timing {
  delayMs?: number
  /** Asks again and again while the component is shown, but not while the page is hidden. */
  everyMs?: number
}

/** After a question that failed. */
const longPauseMs = 5000

/** Asks, and again when the question changes; an answer that comes too late is ignored. */
export function useAnswer<Name extends keyof Answers>(
  name: Name,
  question: Readonly<Record<string, unknown>> = {},
  { delayMs = 0, everyMs }: Timing = {},
): Asked<Answers[Name]> {
  const [asked, setAsked] = useState<Asked<Answers[Name]>>({})
  useEffect(() => {
    let isWanted = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const askIn = (pauseMs: number): void => {
      timer = setTimeout(() => void look(), pauseMs)
    }
    const look = async (): Promise<void> => {
      if (everyMs !== undefined && document.hidden) return askIn(everyMs)
      try {
        const answer = await ask(name, question)
        if (!isWanted) return
        setAsked({ answer })
        if (everyMs !== undefined) askIn(everyMs)
      } catch (error) {
        if (!isWanted) return
        setAsked(({ answer }) => ({ answer: everyMs === undefined ? undefined : answer, error }))
        const isOver = error instanceof AskError && error.code === 'token'
        if (everyMs !== undefined && !isOver) askIn(longPauseMs)
      }
    }
    askIn(delayMs)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [name, JSON.stringify(question)])
  return asked
}

export function Answered<T>({
  asked,
  children,
}: {
  asked: Asked<T>
  children(answer: T): Child
}): JSX.Element {
  return (
    <>
      {asked.error !== undefined && <Trouble error={asked.error} />}
      {asked.answer !== undefined && children(asked.answer)}
    </>
  )
}
