"""What models are asked, and how their answers are read: one typed function a prompt."""
