import Downloads
import Foundation
import Locks

extension AsyncAutoResetEvent {
    /// Waits as `wait()` does, but at most until `deadline`.
    ///
    /// - Parameter deadline: a moment by the clock `time`; nil waits without a limit.
    public func wait(until deadline: Date?, by time: any TimeSource) async {
        let timer = deadline.map { deadline in
            Task {
                try await time.sleep(until: deadline)
                set()
            }
        }
        await wait()
        timer?.cancel()
    }
}
