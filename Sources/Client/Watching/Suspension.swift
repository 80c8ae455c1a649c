import Glibc

/// Ctrl-Z while something is drawn: the screen is left in order before the program stops, and drawn anew when it goes on.
enum Suspension {
    static func hear(leaving: @escaping @Sendable () -> Void, returning: @escaping @Sendable () -> Void) {
        guard SignalAction.isHeard(SIGTSTP) else { return }
        SignalAction.hear(SIGTSTP) { _ in
            leaving()
            SignalAction.act(by: SIGTSTP)
            // Where no shell could wake it again (a container's first process), the kernel does not stop it at all.
            returning()
        }
        SignalAction.hear(SIGCONT) { _ in
            signal(SIGTSTP, SIG_IGN)
            returning()
        }
    }

    static func leave() { [SIGTSTP, SIGCONT].forEach(SignalAction.leave) }
}
