import Base

/// Runs `body` on its own thread, for test doubles that block: they must not occupy Swift's cooperative threads.
func detachThread(_ body: @escaping @Sendable () -> Void) {
    let failure = DetachedThread.start(named: "test double", body)
    guard failure == 0 else { fatalError("pthread_create: \(failure)") }
}
