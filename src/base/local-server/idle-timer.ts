/** Notices when nobody has asked for a while. */
export interface IdleTimer {
  /** Called when a request is let in, and what it returns when that has been answered. */
  busy(): () => void
  /** Whether nothing is being answered. */
  isIdle(): boolean
  end(): void
}

/** Calls `onIdle` once nothing was asked for `ms` milliseconds; 0: never. */
export function idleTimer(ms: number, onIdle: () => void): IdleTimer {
  let active = 0
  let timer: NodeJS.Timeout | undefined
  const wait = (): void => {
    clearTimeout(timer)
    if (ms > 0 && active === 0) timer = setTimeout(onIdle, ms)
  }
  wait()
  return {
    busy() {
      active++
      clearTimeout(timer)
      let done = false
      return () => {
        if (done) return
        done = true
        active--
        wait()
      }
    },
    isIdle: () => active === 0,
    end() {
      active++
      clearTimeout(timer)
    },
  }
}
