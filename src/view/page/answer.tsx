import { useEffect, useState } from 'preact/hooks'
import type { Answers } from '#view/answers'
import { type Child, Trouble } from './parts.tsx'
import { ask, AskError } from './server.ts'

interface Asked<T> {
  answer?: T | undefined
  error?: unknown
}

type Question = Readonly<Record<string, unknown>>

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
  question: Question = {},
  { delayMs = 0, everyMs }: Timing = {},
): Asked<Answers[Name]> {
  const [asked, setAsked] = useState<Asked<Answers[Name]>>({})
  useEffect(() => {
    let isWanted = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const askIn = (pauseMs: number): void => {
      timer = setTimeout(() => void look(), pauseMs)
    }
    const look = async () => {
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

interface AnsweredProperties<Name extends keyof Answers> extends Timing {
  name: Name
  question?: Question
  children(answer: Answers[Name]): Child
}

export function Answered<Name extends keyof Answers>(properties: AnsweredProperties<Name>) {
  const { name, question, children } = properties
  const { answer, error } = useAnswer(name, question, properties)
  return (
    <>
      {error !== undefined && <Trouble error={error} />}
      {answer !== undefined && children(answer)}
    </>
  )
}
