import { useEffect, useRef } from "preact/hooks";
import { isAbort, reconnections } from "../api/client";

// Asks again and again while the component is there and the page is in sight; after an error more slowly.
export function usePoll(ask: (stop: AbortSignal) => Promise<unknown>, every: number, of: unknown[], onError?: (error: unknown) => void) {
  const latest = useRef({ ask, onError });
  latest.current = { ask, onError };
  useEffect(() => {
    if (every <= 0) return;
    const controller = new AbortController();
    const { signal } = controller;
    void (async () => {
      while (!signal.aborted) {
        let wait = every;
        try {
          if (!document.hidden) await latest.current.ask(signal);
        } catch (error) {
          if (signal.aborted || isAbort(error)) return;
          latest.current.onError?.(error);
          wait = Math.max(every, 2000);
        }
        await new Promise((done) => setTimeout(done, wait));
      }
    })();
    return () => controller.abort();
  }, [every, reconnections.value, ...of]);
}
