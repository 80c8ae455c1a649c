import Dispatch
import Glibc
import Locks

/// The handling of signals.
enum SignalAction {
    typealias Hearing = @Sendable (_ queue: DispatchQueue) -> Void

    /// The signals that ask a program to end.
    static let ends = [SIGINT, SIGTERM, SIGHUP]

    /// False if the parent process made this program ignore the signal: `nohup`, or a script with `trap '' INT`.
    static func isHeard(_ number: Int32) -> Bool { !ignored.contains(number) }

    /// The signals that were ignored at the start. It must be read before `hear`, which sets signals to be ignored.
    private static let ignored: Set<Int32> = Set(
        (ends + [SIGTSTP]).filter { number in
            var action = sigaction()
            sigaction(number, nil, &action)
            let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            return handler == unsafeBitCast(SIG_IGN, to: Int.self)
        })

    private struct State {
        var hearings: [Int32: Hearing] = [:]
        /// Sources are kept: after a source was cancelled, a new source for the same signal would never be called.
        var sources: [Int32: any DispatchSourceSignal] = [:]
    }

    private static let state = Locked(State())

    /// Calls `hearing` for each signal, instead of the default action.
    static func hear(_ number: Int32, _ hearing: @escaping Hearing) {
        state.withLock { state in
            state.hearings[number] = hearing
            guard state.sources[number] == nil else { return }
            // The source replaces the default action. A signal that comes before has that action.
            state.sources[number] = source(of: number)
        }
    }

    /// Restores the default action.
    static func leave(_ number: Int32) { state.withLock { $0.hearings[number] = nil } }

    /// Each signal has a queue of its own, so that a handler that waits for the terminal does not block the others. A blocked
    /// write in a task does not block the queues either.
    ///
    /// - Returns: a source that gets signals from now on.
    private static func source(of number: Int32) -> any DispatchSourceSignal {
        let queue = DispatchQueue(label: "fetchd-client.signal-\(number)")
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler {
            if let hearing = state.withLock({ $0.hearings[number] }) { hearing(queue) } else { act(by: number) }
        }
        let isRegistered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isRegistered.signal() }
        source.resume()
        isRegistered.wait()
        return source
    }

    /// Performs the default action of the signal.
    static func act(by number: Int32) {
        // The kernel has continued the process already.
        guard number != SIGCONT else { return }
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}
