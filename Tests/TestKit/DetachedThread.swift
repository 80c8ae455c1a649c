import Locks

/// Runs `body` on a thread of its own. Test doubles that block must not occupy the few threads of Swift's tasks.
func detachThread(_ body: @escaping @Sendable () -> Void) {
    let failure = DetachedThread.start(named: "test double", body)
    guard failure == 0 else { fatalError("pthread_create: \(failure)") }
}
