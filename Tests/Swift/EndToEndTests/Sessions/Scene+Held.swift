import TestKit

extension Scene {
    /// From now on `/held` also holds resumed downloads until the gate opens.
    func holdResumedDownloads() {
        origin.serve(
            "/held", .file(bytes), .waiting(at: 100_000, for: gate),
            .waitingBeforeHead(for: gate).when { $0.request.header("Range") != nil })
    }
}
