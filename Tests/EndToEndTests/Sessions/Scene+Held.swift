import TestKit

extension Scene {
    /// From now on `/held` holds a download that goes on where it was, too, until the gate opens.
    func holdWhatIsResumed() {
        origin.serve(
            "/held", .file(bytes), .waiting(at: 100_000, for: gate),
            .waitingBeforeHead(for: gate).when { $0.request.header("Range") != nil })
    }
}
