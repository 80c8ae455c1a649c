/// The result of a succeeded job.
public struct Finish: Sendable, Equatable, Codable {
    public var file: FinishedFile
    public var receipt: Receipt

    public init(file: FinishedFile, receipt: Receipt) {
        self.file = file
        self.receipt = receipt
    }
}
