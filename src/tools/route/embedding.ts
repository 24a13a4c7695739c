/** Turns texts into vectors whose directions are near when the meanings are. */
export interface Embedding {
  /** Names model and source: vectors of different names are never compared. */
  name: string
  /** One vector for each text, in their order. Rejects with a `ToolError`. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>
}

export interface EmbedOptions {
  signal?: AbortSignal | undefined
}
