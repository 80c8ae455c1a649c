/// A transfer that the loop has not started yet.
struct Submission: Sendable {
    let id: TransferID
    let request: TransferRequest
    let handler: any TransferHandler
}
