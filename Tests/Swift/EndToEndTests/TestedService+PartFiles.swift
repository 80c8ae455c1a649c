import TestKit

extension TestedService {
    /// Waits until no part file is left. fetchd removes a part file after the commit that ends its promise, and may answer
    /// in between.
    func partFilesAreRemoved() async throws -> Bool {
        try await eventually("the part files to be removed") {
            folder.files.contains { $0.hasSuffix(".part") } ? nil : true
        }
    }
}
