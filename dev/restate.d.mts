export const serverVersion: string

export interface ServerOptions {
  binary: string
  ingressPort: number
  adminPort: number
  nodePort: number
  /** Kept when it is given; else a temporary one. */
  directory?: string
  output?: 'ignore' | 'inherit'
  env?: Record<string, string>
}

export interface Server {
  url: string
  adminUrl: string
  directory: string
  readonly pid: number
  readonly ended: Promise<number | null>
  restart(): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
  cleanUp(): void
}

export function findServer(): string | undefined
export function installServer(): string
export function startServer(options: ServerOptions): Promise<Server>
export function nextLines(server: Pick<Server, 'url' | 'adminUrl'>): string[]
