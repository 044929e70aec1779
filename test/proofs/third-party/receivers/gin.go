package main

import (
	"net/http"
	"os"

	"github.com/gin-gonic/gin"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.POST("/hooks", func(c *gin.Context) {
		if c.GetHeader("X-API-Key") != os.Getenv("RECEIVER_API_KEY") {
			c.AbortWithStatus(http.StatusUnauthorized)
			return
		}
		body, err := c.GetRawData()
		if err != nil || !isSigned(body, c.GetHeader("X-Service-Signature")) {
			c.AbortWithStatusJSON(http.StatusUnauthorized, gin.H{"error": "invalid signature"})
			return
		}
		c.JSON(http.StatusOK, gin.H{"received": true})
	})
	router.Run(address())
}
