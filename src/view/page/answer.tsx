import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answers } from '../questions.ts'
import { type Child, Trouble } from './parts.tsx'
import { ask, AskError } from './server.ts'

export interface Asked<T> {
  answer?: T | undefined
  error?: unknown
}

/** Asks once, and again when the question changes; an answer that comes too late is ignored. */
export function useAnswer<Name extends keyof Answers>(
  name: Name,
  question: Readonly<Record<string, unknown>> = {},
  delayMs = 0,
): Asked<Answers[Name]> {
  const [asked, setAsked] = useState<Asked<Answers[Name]>>({})
  useEffect(() => {
    let isWanted = true
    const send = (): void => {
      ask(name, question).then(
        (answer) => isWanted && setAsked({ answer }),
        (error: unknown) => isWanted && setAsked({ error }),
      )
    }
    const timer = setTimeout(send, delayMs)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [name, JSON.stringify(question)])
  return asked
}

/** Between two questions about runs that have not ended; none is asked while the page is hidden. */
const pauseMs = 1200
const longPauseMs = 5000

/** Asks again and again while the component is shown. `question` gets the last answer. */
export function useFollowed<Name extends keyof Answers>(
  name: Name,
  question: (last: Answers[Name] | undefined) => Readonly<Record<string, unknown>>,
  key: string,
  betweenMs = pauseMs,
): Asked<Answers[Name]> {
  const [asked, setAsked] = useState<Asked<Answers[Name]>>({})
  const last = useRef<Answers[Name] | undefined>(undefined)
  useEffect(() => {
    let isWanted = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      let pause = betweenMs
      try {
        if (!document.hidden) {
          const answer = await ask(name, question(last.current))
          if (!isWanted) return
          if (!('isNew' in answer) || answer.isNew) last.current = answer
          setAsked({ answer: last.current })
        }
      } catch (error) {
        if (!isWanted) return
        setAsked({ answer: last.current, error })
        if (error instanceof AskError && error.code === 'token') return
        pause = longPauseMs
      }
      timer = setTimeout(() => void look(), pause)
    }
    void look()
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [name, key])
  return asked
}

/** What comes of one question. */
export function Ask<Name extends keyof Answers>({
  name,
  question = {},
  children,
}: {
  name: Name
  question?: Readonly<Record<string, unknown>>
  children(answer: Answers[Name]): Child
}): JSX.Element {
  return <Answered asked={useAnswer(name, question)}>{children}</Answered>
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
