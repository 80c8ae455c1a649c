import Glibc

/// Handles Ctrl-Z while bars are drawn: restores the terminal before the program stops, and draws again when it continues.
enum Suspension {
    static func hear(leaving: @escaping @Sendable () -> Void, returning: @escaping @Sendable () -> Void) {
        guard SignalAction.isHeard(SIGTSTP) else { return }
        SignalAction.hear(SIGTSTP) { _ in
            leaving()
            SignalAction.act(by: SIGTSTP)
            // The kernel does not stop a process that no shell could continue, such as the first process of a container.
            returning()
        }
        SignalAction.hear(SIGCONT) { _ in
            signal(SIGTSTP, SIG_IGN)
            returning()
        }
    }

    static func leave() { [SIGTSTP, SIGCONT].forEach(SignalAction.leave) }
}
