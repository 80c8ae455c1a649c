import Dispatch
import Glibc
import Locks

/// What becomes of signals.
enum SignalAction {
    typealias Hearing = @Sendable (_ queue: DispatchQueue) -> Void

    /// Those that ask a program to end.
    static let ends = [SIGINT, SIGTERM, SIGHUP]

    /// Whoever started this program may have meant it to be deaf: `nohup`, or a script with `trap '' INT`.
    static func isHeard(_ number: Int32) -> Bool { !ignored.contains(number) }

    /// As it was before any of them was heard here: from then on they look ignored.
    private static let ignored: Set<Int32> = Set(
        (ends + [SIGTSTP]).filter { number in
            var action = sigaction()
            sigaction(number, nil, &action)
            let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            return handler == unsafeBitCast(SIG_IGN, to: Int.self)
        })

    private struct State {
        var hearings: [Int32: Hearing] = [:]
        /// Once made they stay: another source for the same signal, after the first was cancelled, is never called.
        var sources: [Int32: any DispatchSourceSignal] = [:]
    }

    private static let state = Locked(State())

    /// From now on it is heard, in place of what it does by itself.
    static func hear(_ number: Int32, _ hearing: @escaping Hearing) {
        state.withLock { state in
            state.hearings[number] = hearing
            guard state.sources[number] == nil else { return }
            signal(number, SIG_IGN)
            state.sources[number] = source(of: number)
        }
    }

    /// It does again what it does by itself.
    static func leave(_ number: Int32) { state.withLock { $0.hearings[number] = nil } }

    /// Each has a queue of its own: one that waits for its terminal holds up no other, nor do the threads of those tasks that
    /// write to somebody who does not read.
    private static func source(of number: Int32) -> any DispatchSourceSignal {
        let queue = DispatchQueue(label: "fetchd-client.signal-\(number)")
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler {
            if let hearing = state.withLock({ $0.hearings[number] }) { hearing(queue) } else { act(by: number) }
        }
        source.resume()
        return source
    }

    /// As if it had not been heard.
    static func act(by number: Int32) {
        // The kernel has done what there was to be done.
        guard number != SIGCONT else { return }
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}
