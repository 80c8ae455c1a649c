import Base
import Dispatch
import Glibc

enum SignalHandlers {
    typealias Handler = @Sendable (_ queue: DispatchQueue) -> Void

    static let terminating = [SIGINT, SIGTERM, SIGHUP]

    /// False if the parent process made this program ignore the signal: `nohup`, or a script with `trap '' INT`.
    static func canHandle(_ number: Int32) -> Bool { !ignored.contains(number) }

    /// The signals that were ignored at the start. It must be read before `set`, which sets signals to be ignored.
    private static let ignored: Set<Int32> = Set(
        (terminating + [SIGTSTP]).filter { number in
            var action = sigaction()
            sigaction(number, nil, &action)
            let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            return handler == unsafeBitCast(SIG_IGN, to: Int.self)
        })

    private struct State {
        var handlers: [Int32: Handler] = [:]
        /// Sources are kept: after a source was cancelled, a new source for the same signal would never be called.
        var sources: [Int32: any DispatchSourceSignal] = [:]
    }

    private static let state = Locked(State())

    /// Calls `handler` for each signal, instead of the default action.
    static func set(_ number: Int32, _ handler: @escaping Handler) {
        state.withLock { state in
            state.handlers[number] = handler
            guard state.sources[number] == nil else { return }
            // The source replaces the default action. A signal that comes before has that action.
            state.sources[number] = source(of: number)
        }
    }

    static func remove(_ number: Int32) { state.withLock { $0.handlers[number] = nil } }

    /// Each signal has a queue of its own, so that a handler that waits for the terminal does not block the others. A blocked
    /// write in a task does not block the queues either.
    ///
    /// - Returns: a source that gets signals from now on.
    private static func source(of number: Int32) -> any DispatchSourceSignal {
        let queue = DispatchQueue(label: "fetchd-client.signal-\(number)")
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler {
            if let handler = state.withLock({ $0.handlers[number] }) {
                handler(queue)
            } else {
                performDefaultAction(of: number)
            }
        }
        let isRegistered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isRegistered.signal() }
        source.resume()
        isRegistered.wait()
        return source
    }

    static func performDefaultAction(of number: Int32) {
        // The kernel has continued the process already.
        guard number != SIGCONT else { return }
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}

/// Converts SIGINT, SIGTERM and SIGHUP to the cancellation of a task, so that the command can restore the terminal and print
/// its last message. A task that does not end, for example because it writes to a full pipe, is ended by the signal after
/// five seconds, or by a second signal.
enum InterruptSignals {
    struct Received: Error {
        let signal: Int32
        /// The exit status by the convention of shells.
        var exitCode: Int32 { 128 + signal }
    }

    /// The time for the last steps after a signal. It leaves room for a process that the system pauses for a while.
    private static let grace = DispatchTimeInterval.seconds(5)

    /// The body begins when the signals are handled, so that none of them can end it without its last steps.
    ///
    /// - Throws: `Received` if a signal interrupted the body.
    static func cancelling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let received = Locked<Int32?>(nil)
        let areHandled = Latch()
        let task = Task {
            await areHandled.wait()
            return try await body()
        }
        let isOver = Locked(false)
        let signals = SignalHandlers.terminating.filter(SignalHandlers.canHandle)
        for number in signals {
            SignalHandlers.set(number) { queue in
                let isFirst = received.withLock { signal in
                    defer { signal = signal ?? number }
                    return signal == nil
                }
                guard isFirst else { return SignalHandlers.performDefaultAction(of: number) }
                task.cancel()
                queue.asyncAfter(deadline: .now() + grace) {
                    if !isOver.withLock({ $0 }) { SignalHandlers.performDefaultAction(of: number) }
                }
            }
        }
        areHandled.open()
        defer {
            isOver.withLock { $0 = true }
            signals.forEach(SignalHandlers.remove)
        }
        do {
            return try await task.value
        } catch {
            guard let number = received.withLock({ $0 }) else { throw error }
            throw Received(signal: number)
        }
    }
}

/// Handles Ctrl-Z while bars are drawn: restores the terminal before the program stops, and draws again when it continues.
enum SuspendSignals {
    static func handle(suspend: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void) {
        guard SignalHandlers.canHandle(SIGTSTP) else { return }
        SignalHandlers.set(SIGTSTP) { _ in
            suspend()
            SignalHandlers.performDefaultAction(of: SIGTSTP)
            // The kernel does not stop a process that no shell could continue, such as the first process of a container.
            resume()
        }
        SignalHandlers.set(SIGCONT) { _ in
            signal(SIGTSTP, SIG_IGN)
            resume()
        }
    }

    static func restoreDefaults() { [SIGTSTP, SIGCONT].forEach(SignalHandlers.remove) }
}
