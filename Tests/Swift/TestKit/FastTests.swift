import Foundation
import Testing

/// `scripts/test --fast` leaves out every test that starts a program: fetchd itself, nginx, a browser, `openssl`. The others
/// run the whole service in the process of the tests.
enum FastTests {
    static let areWanted = ProcessInfo.processInfo.environment["FETCHD_FAST_TESTS"] == "1"

    /// Ends the test that is about to start a program, without a failure.
    static func leaveOutPrograms() throws {
        guard areWanted else { return }
        #if compiler(>=6.3)
        try Test.cancel("starts a program")
        #else
        throw Overdue("--fast needs Swift 6.3 to leave a test out")
        #endif
    }
}
