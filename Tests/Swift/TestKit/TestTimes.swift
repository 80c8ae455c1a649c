import Base
import Foundation
import Testing

/// Notes when each test begins its work. Swift Testing starts all tests at once and lets most of them wait for their
/// turn, so its own durations do not show which tests are slow. `scripts/test` prints the slowest from these notes.
enum TestTimes {
    private static let file: FileHandle? = ProcessInfo.processInfo.environment["FETCHD_TEST_TIMES"].flatMap { path in
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return FileHandle(forWritingAtPath: path)
    }
    private static let begun = Locked<Set<Test.ID>>([])

    /// The first call in a test counts; `TemporaryFolder` makes it. Conditions of traits, which run before, don't count.
    static func noteBeginning() {
        guard let file, Test.Case.current != nil, let test = Test.current?.id,
            begun.withLock({ $0.insert(test).inserted })
        else { return }
        file.write(Data("\(Date().timeIntervalSince1970) \(test)\n".utf8))
    }
}
